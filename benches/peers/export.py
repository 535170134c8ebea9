"""Exports networks that nobody tuned for, with random weights, to ONNX files for `run.py --files`.

    python -m venv /tmp/export && /tmp/export/bin/pip install torch torchvision timm transformers onnxruntime onnxscript
    /tmp/export/bin/python benches/peers/export.py FOLDER [--only NAME]
    python benches/peers/run.py PROGRAM --files FOLDER/*.onnx

Networks of timm and torchvision by name, of transformers in small, and some of them quantized by onnxruntime. Sizes of
batches are 1; norms have random statistics.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn

TIMM = """beit_base_patch16_224 botnet26t_256 cait_xxs24_224 coatnet_nano_rw_224 convmixer_768_32 convnext_atto convnextv2_atto
crossvit_tiny_240 cspdarknet53 deit_tiny_patch16_224 densenet121 dla34 dpn48b edgenext_xx_small efficientformer_l1
efficientvit_b0 ese_vovnet19b_dw eva02_tiny_patch14_224 fastvit_t8 fbnetc_100 focalnet_tiny_srf
gcresnext26ts gernet_s ghostnet_100 hardcorenas_a hiera_tiny_224 hrnet_w18_small inception_next_tiny inception_v4
lambda_resnet26t lcnet_050 levit_128s maxvit_nano_rw_256 mixer_s32_224 mnasnet_100 mobilenetv3_small_100
mobilenetv4_conv_small mobileone_s0 mobilevit_s nasnetalarge nextvit_small nfnet_f0 poolformer_s12 pvt_v2_b0 regnety_008
repvgg_a0 repvit_m0_9 res2net50_26w_4s resmlp_12_224 resnest14d rexnet_100 selecsls42b sequencer2d_s skresnet18 starnet_s1
swin_tiny_patch4_window7_224 tiny_vit_5m_224 tinynet_a tnt_s_patch16_224 twins_svt_small visformer_tiny
vit_tiny_patch16_224 xception41 xcit_nano_12_p16_224
bat_resnext26ts caformer_s18 coat_lite_tiny convit_tiny cs3darknet_s davit_tiny densenetblur121d eca_nfnet_l0
efficientformerv2_s0 efficientvit_m1 fasternet_t0 gcvit_xxtiny ghostnetv2_100 gmlp_s16_224 hgnetv2_b0 mambaout_femto
mixnet_s mvitv2_tiny nest_tiny pit_ti_224 rdnet_tiny repghostnet_050 res2next50 resnet26t resnetv2_50 resnext26ts
semnasnet_075 seresnext26d_32x4d skresnext50_32x4d swiftformer_xs tf_efficientnetv2_b0 tf_mixnet_m vovnet39a""".split()

# Quantized: `qdq` and `qop` as onnxruntime writes them, `qat` with weights that the network itself quantizes, `dyn` with
# the scales of each run.
QUANTIZED = {
    "qdq": """mobilenetv3_small_100 regnety_008 convnext_atto ghostnet_100 densenet121 efficientvit_b0 levit_128s fastvit_t8
        resnest14d hrnet_w18_small deit_tiny_patch16_224 squeezenet shufflenet_v2 googlenet mc3 deeplabv3 bert distilbert""",
    "qat": "mobilenetv3_small_100 regnety_008 mnasnet_100 gernet_s poolformer_s12",
    "qop": "mnasnet_100 repvgg_a0 skresnet18 squeezenet shufflenet_v2",
    "dyn": "bert distilbert t5 deberta albert wav2vec2 bilstm clip mobilebert yolos",
}


def images(*shape):
    return (torch.randn(1, 3, *shape),)


def torchvision_networks():
    from torchvision import models
    from torchvision.models import segmentation, video
    plain = {"weights": None}
    segmented = plain | {"weights_backbone": None}
    return {
        "alexnet": (lambda: models.alexnet(**plain), images(224, 224)),
        "deeplabv3": (lambda: segmentation.deeplabv3_mobilenet_v3_large(**segmented), images(320, 320)),
        "googlenet": (lambda: models.googlenet(aux_logits=False, init_weights=False), images(224, 224)),
        "lraspp": (lambda: segmentation.lraspp_mobilenet_v3_large(**segmented), images(320, 320)),
        "maxvit_t": (lambda: models.maxvit_t(**plain), images(224, 224)),
        "mc3": (lambda: video.mc3_18(**plain), images(8, 112, 112)),
        "r2plus1d": (lambda: video.r2plus1d_18(**plain), images(8, 112, 112)),
        "raft_small": (lambda: models.optical_flow.raft_small(**plain), images(128, 160) + images(128, 160)),
        "s3d": (lambda: video.s3d(**plain), images(16, 224, 224)),
        "shufflenet_v2": (lambda: models.shufflenet_v2_x1_0(**plain), images(224, 224)),
        "squeezenet": (lambda: models.squeezenet1_1(**plain), images(224, 224)),
        "swin3d_t": (lambda: video.swin3d_t(**plain), images(8, 112, 112)),
        "swin_v2_t": (lambda: models.swin_v2_t(**plain), images(256, 256)),
        "vgg11_bn": (lambda: models.vgg11_bn(**plain), images(224, 224)),
    }


class First(nn.Module):
    """The first result of a network of transformers."""

    def __init__(self, network, names):
        super().__init__()
        self.network, self.names = network, names

    def forward(self, *inputs):
        return self.network(**dict(zip(self.names, inputs)), return_dict=True)[0]


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1000, 128)
        self.lstm = nn.LSTM(128, 256, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(512, 50)

    def forward(self, x):
        return self.head(self.lstm(self.embedding(x))[0])


def transformers_networks():
    import transformers as t
    small = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024}
    words = {"vocab_size": 2000}

    def tokens(count):
        return (torch.randint(0, 1000, (1, count)),)

    def network(kind, config, inputs, names):
        config._attn_implementation, config.use_cache = "eager", False
        return lambda: First(kind(config), names), inputs

    def text(kind, config, count):
        return network(kind, config, tokens(count), ["input_ids"])

    def image(kind, config, size):
        return network(kind, config, images(size, size), ["pixel_values"])

    return {
        "albert": text(t.AlbertModel, t.AlbertConfig(**small, **words), 64),
        "bert": text(t.BertModel, t.BertConfig(**small, **words), 128),
        "bilstm": (Recurrent, tokens(60)),
        "convbert": text(t.ConvBertModel, t.ConvBertConfig(**small, **words, embedding_size=128), 64),
        "clip": image(t.CLIPVisionModel, t.CLIPVisionConfig(**small, image_size=224, patch_size=32), 224),
        "deberta": text(t.DebertaV2Model, t.DebertaV2Config(
            **small, **words, relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=64,
            max_relative_positions=-1, share_att_key=True), 64),
        "dinov2": image(t.Dinov2Model, t.Dinov2Config(
            hidden_size=256, num_hidden_layers=4, num_attention_heads=4, image_size=224, patch_size=14), 224),
        "electra": text(t.ElectraModel, t.ElectraConfig(**small, **words, embedding_size=128), 64),
        "glpn": image(t.GLPNForDepthEstimation, t.GLPNConfig(), 224),
        "hifigan": (lambda: t.SpeechT5HifiGan(t.SpeechT5HifiGanConfig(upsample_initial_channel=128)),
                    (torch.randn(50, 80),)),
        "hubert": network(t.HubertModel, t.HubertConfig(**small, conv_dim=(256,) * 7),
                          (torch.randn(1, 16000),), ["input_values"]),
        "opt": text(t.OPTModel, t.OPTConfig(
            hidden_size=256, num_hidden_layers=4, num_attention_heads=4, ffn_dim=1024, word_embed_proj_dim=256,
            **words), 64),
        "siglip": image(t.SiglipVisionModel, t.SiglipVisionConfig(**small, image_size=224, patch_size=16), 224),
        "squeezebert": text(t.SqueezeBertModel, t.SqueezeBertConfig(**small, **words, embedding_size=256), 64),
        "timesformer": network(t.TimesformerModel, t.TimesformerConfig(**small, image_size=112, num_frames=4),
                               (torch.randn(1, 4, 3, 112, 112),), ["pixel_values"]),
        "videomae": network(t.VideoMAEModel, t.VideoMAEConfig(**small, image_size=112, num_frames=8),
                            (torch.randn(1, 8, 3, 112, 112),), ["pixel_values"]),
        "whisper": network(t.models.whisper.modeling_whisper.WhisperEncoder, t.WhisperConfig(
            d_model=256, encoder_layers=4, encoder_attention_heads=4, encoder_ffn_dim=1024, max_source_positions=300),
            (torch.randn(1, 80, 600),), ["input_features"]),
        "xlnet": text(t.XLNetModel, t.XLNetConfig(d_model=256, n_layer=4, n_head=4, d_inner=1024, **words), 64),
        "distilbert": text(t.DistilBertModel, t.DistilBertConfig(
            dim=256, n_layers=4, n_heads=4, hidden_dim=1024, **words), 128),
        "dpt": image(t.DPTForDepthEstimation, t.DPTConfig(
            hidden_size=192, num_hidden_layers=4, num_attention_heads=3, intermediate_size=768, image_size=224,
            backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[48, 96, 192, 192], fusion_hidden_size=64), 224),
        "mamba": text(t.MambaForCausalLM, t.MambaConfig(hidden_size=128, num_hidden_layers=2, **words), 32),
        "mobilebert": text(t.MobileBertModel, t.MobileBertConfig(num_hidden_layers=6, **words), 64),
        "segformer": image(t.SegformerForSemanticSegmentation, t.SegformerConfig(), 256),
        "t5": text(t.T5EncoderModel, t.T5Config(d_model=256, d_ff=512, num_layers=4, num_heads=4, **words), 96),
        "wav2vec2": network(t.Wav2Vec2Model, t.Wav2Vec2Config(**small, conv_dim=(256,) * 7),
                            (torch.randn(1, 16000),), ["input_values"]),
        "yolos": image(t.YolosModel, t.YolosConfig(
            hidden_size=192, num_hidden_layers=4, num_attention_heads=3, intermediate_size=768,
            image_size=[256, 256]), 256),
    }


def timm_network(name):
    import timm
    size = timm.get_pretrained_cfg(name).input_size[1:]
    return lambda: timm.create_model(name, pretrained=False, exportable=True), images(*size)


def export(path, make, inputs):
    torch.manual_seed(0)
    network = make().eval()
    for part in network.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    with torch.no_grad():
        torch.onnx.export(network, inputs, path, opset_version=17, dynamo=False)


def quantize(source, path, kind):
    import onnxruntime
    from onnxruntime import quantization as q
    from onnxruntime.quantization.shape_inference import quant_pre_process
    prepared = path.with_suffix(".prepared")
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    if kind == "dyn":
        q.quantize_dynamic(prepared, path, weight_type=q.QuantType.QInt8)
        return prepared.unlink()
    random = np.random.default_rng(1)
    samples = {}
    for value in onnxruntime.InferenceSession(prepared).get_inputs():
        is_float = "float" in value.type
        numbers = random.standard_normal(value.shape) if is_float else random.integers(0, 100, value.shape)
        samples[value.name] = numbers.astype(np.float32 if is_float else np.int64)

    class Reader(q.CalibrationDataReader):
        rows = iter([samples])

        def get_next(self):
            return next(self.rows, None)

    signed = kind == "qat"
    q.quantize_static(
        prepared, path, Reader(), per_channel=kind != "qop", weight_type=q.QuantType.QInt8,
        quant_format=q.QuantFormat.QOperator if kind == "qop" else q.QuantFormat.QDQ,
        activation_type=q.QuantType.QInt8 if signed else q.QuantType.QUInt8,
        extra_options={"AddQDQPairToWeight": signed, "ActivationSymmetric": signed})
    prepared.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="only networks whose name has this in it")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    networks = {name: timm_network(name) for name in TIMM} | torchvision_networks() | transformers_networks()
    for name, (make, inputs) in networks.items():
        if arguments.only in name:
            export(arguments.folder / f"{name}.onnx", make, inputs)
    for kind, names in QUANTIZED.items():
        for name in names.split():
            source = arguments.folder / f"{name}.onnx"
            if arguments.only in name and source.exists():
                quantize(source, arguments.folder / f"{name}-{kind}.onnx", kind)


if __name__ == "__main__":
    main()
